# A whole bot in awk: it plays the first legal move. Try: caboose match 'awk -f examples/first_move.awk' greedy
# (mawk, which reads ahead, needs -W interactive before -f).
$1 == "caboose" { print "id name first_move\ncabooseok 1" }
$1 == "isready" { print "readyok" }
$1 == "legal"   { move = $2 }
$1 == "go"      { print "bestmove", $2, move }
$1 == "quit"    { exit }
                { fflush() }
