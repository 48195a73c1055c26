package codecs_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/codecs"
)

// Write and read a table with zstd blocks, like C++ LevelDB after 1.23.
func Example() {
	var file bytes.Buffer
	w, err := table.NewWriter(&file, &table.WriterOptions{Compression: codecs.Zstd})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 1000 {
		if err := w.Append(fmt.Appendf(nil, "user%04d", i), []byte("a value that comes again and again")); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}

	contents := bytes.NewReader(file.Bytes())
	r, err := table.NewReader(contents, contents.Size(), &table.ReaderOptions{Codecs: codecs.All()})
	if err != nil {
		fmt.Println(err)
		return
	}
	value, err := r.Get([]byte("user0815"))
	fmt.Printf("%s, %v\n", value, err)

	_, err = table.NewReader(contents, contents.Size(), nil) // knows only Snappy
	fmt.Println(errors.Is(err, table.ErrCorrupt))
	// Output:
	// a value that comes again and again, <nil>
	// true
}

// Find the size of a block that exceeds a Reader's MaxBlockSize of 1 MiB.
func ExampleTooLargeError() {
	block := codecs.Deflate.Encode(nil, []byte(strings.Repeat("again and ", 1<<20)))
	_, err := codecs.Deflate.Decode(nil, block, 1<<20)
	var tooLarge *codecs.TooLargeError
	if errors.As(err, &tooLarge) {
		fmt.Println(tooLarge.Size, "bytes")
	}
	fmt.Println(err)
	// Output:
	// 10485760 bytes
	// deflate: decodes to 10485760 bytes, more than the limit of 1048576
}
