# A whole bot in Python, without any package: it plays the heaviest tile.
# Try: caboose match 'python3 examples/heaviest.py' greedy
import re
import sys

move = "stop"
for line in sys.stdin:
    word, *rest = line.split() or [""]
    if word == "caboose":
        print("id name heaviest\ncabooseok 1", flush=True)
    elif word == "isready":
        print("readyok", flush=True)
    elif word == "legal":
        move = max(rest, key=lambda move: sum(map(int, re.findall(r"\d+", move)[:2])), default="stop")
    elif word == "go" and rest:
        print("bestmove", rest[0], move, flush=True)
    elif word == "quit":
        break
