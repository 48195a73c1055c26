package block_test

import (
	"fmt"

	"github.com/sievetable/sievetable/block"
)

func Example() {
	w, err := block.NewWriter(2, block.Order{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range [][2]string{{"app", "1"}, {"apple", "2"}, {"banana", "3"}} {
		if err := w.Append([]byte(e[0]), []byte(e[1])); err != nil {
			fmt.Println(err)
			return
		}
	}
	data := w.Finish()
	fmt.Printf("%d bytes: %q\n", len(data), data)

	b, err := block.Open(data, block.Order{})
	if err != nil {
		fmt.Println(err)
		return
	}
	it := b.NewIter()
	for ok := it.SeekGE([]byte("apple")); ok; ok = it.Next() {
		fmt.Printf("%s=%s\n", it.Key(), it.Value())
	}
	// Output:
	// 35 bytes: "\x00\x03\x01app1\x03\x02\x01le2\x00\x06\x01banana3\x00\x00\x00\x00\r\x00\x00\x00\x02\x00\x00\x00"
	// apple=2
	// banana=3
}

// The error for a corrupt block has the offset, and says what was expected.
func ExampleOpen() {
	_, err := block.Open([]byte("\x00\x01\x00b\x00\x01\x00a\x00\x00\x00\x00\x01\x00\x00\x00"), block.Order{})
	fmt.Println(err)
	// Output: entry at 4 has key "a", which is not greater than the key before, "b"
}
