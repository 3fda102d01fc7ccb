/*bin/true
# A function of Go as a target: gelu-verify run "pipe:sh adapter.go 'math.Erf(x)' math" --dtype float64 (docs/targets.md).
# x is one input, a float32 or float64, as is g or b of a function of two inputs, and the expression its output. Further
# words are packages to import.
# sh runs this comment, which compiles the rest; the program removes its folder.
folder="$(mktemp -d)"
cp "$0" "$folder/adapter.go"
{
  echo "package main"
  for package in "$@"; do [ "$package" = "$1" ] || echo "import \"$package\""; done
  echo "type T = $GELU_VERIFY_DTYPE; func f(x, ${GELU_VERIFY_SECOND_INPUT:-_} T) T { return $1 }"
} > "$folder/expression.go"
go build -o "$folder/program" "$folder/adapter.go" "$folder/expression.go" && exec "$folder/program"
rm -r "$folder"
exit 1
*/

package main

import (
	"bufio"
	"encoding/binary"
	"os"
	"path/filepath"
)

func main() {
	os.RemoveAll(filepath.Dir(os.Args[0]))
	input, output := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	inputs := 1
	if os.Getenv("GELU_VERIFY_SECOND_INPUT") != "" {
		inputs = 2
	}
	var n uint64
	for binary.Read(input, binary.LittleEndian, &n) == nil {
		values := make([]T, n)
		if err := binary.Read(input, binary.LittleEndian, values); err != nil {
			panic(err)
		}
		second := values[len(values)-len(values)/inputs:]
		values = values[:len(values)/inputs]
		for i, x := range values {
			values[i] = f(x, second[i])
		}
		binary.Write(output, binary.LittleEndian, uint64(len(values)))
		binary.Write(output, binary.LittleEndian, values)
		output.Flush()
	}
}
