// A whole bot in Node: it plays the first legal move. Try: caboose match 'node examples/first_move.js' greedy
let move = "";
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const [word, first] = line.trim().split(/\s+/);
  if (word === "caboose") console.log("id name first_move\ncabooseok 1");
  if (word === "isready") console.log("readyok");
  if (word === "legal") move = first;
  if (word === "go") console.log(`bestmove ${first} ${move}`);
  if (word === "quit") process.exit();
});
