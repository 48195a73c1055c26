package set_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// OpenFS opens a set in any file system, such as os.DirFS or embed.FS.
func ExampleOpenFS() {
	dir := makeFruits([]string{"apple", "banana"}, []string{"cherry", "damson"})
	defer os.RemoveAll(dir)

	ctx := context.Background()
	fruits, err := set.OpenFS(ctx, os.DirFS(dir), ".", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer fruits.Close()
	for _, name := range []string{"damson", "fig"} {
		_, err := fruits.Get(ctx, []byte(name))
		fmt.Println(name, !errors.Is(err, table.ErrNotFound))
	}
	// Output:
	// damson true
	// fig false
}
