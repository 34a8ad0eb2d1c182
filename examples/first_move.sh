#!/bin/sh
# A whole bot in POSIX shell: it plays the first legal move. Try: caboose match 'sh examples/first_move.sh' greedy
while read -r word first rest; do
    case $word in
        caboose) echo "cabooseok 1" ;;
        isready) echo "readyok" ;;
        legal)   move=$first ;;
        go)      echo "bestmove $first $move" ;;
        quit)    exit ;;
    esac
done
