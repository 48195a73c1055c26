package output

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// FreeName returns path with suffix instead of its extension. If a file has that name
// already, it adds the first number ≥ 2 that makes the name free.
func FreeName(path, suffix string) string {
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	name := stem + suffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d%s", stem, n, suffix)
	}
}
