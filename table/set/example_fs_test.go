package set_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// OpenFS opens a set in any file system, such as os.DirFS or embed.FS.
func ExampleOpenFS() {
	root, err := os.MkdirTemp("", "set")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(root)
	dir := filepath.Join(root, "fruits")
	err = errors.Join(os.Mkdir(dir, 0o777), writeFruits(dir, []string{"apple", "banana"}, []string{"cherry", "damson"}))
	if err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	fruits, err := set.OpenFS(ctx, os.DirFS(root), "fruits", nil)
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
