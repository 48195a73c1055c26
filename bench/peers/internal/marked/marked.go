// Package marked replaces the part of a page that a program writes. Comments mark its start and end. The first
// comment names the command.
package marked

import (
	"fmt"
	"os"
	"regexp"
)

var marks = regexp.MustCompile(`(?s)(<!-- measured: [^\n]*-->\n).*?(<!-- end of measurements -->\n)`)

// Replace returns the page with a new part between the comments.
func Replace(page []byte, part string) ([]byte, error) {
	found := marks.FindAllSubmatch(page, -1)
	if len(found) != 1 {
		return nil, fmt.Errorf("%d parts between the comments \"measured\" and \"end of measurements\", want one", len(found))
	}
	return marks.ReplaceAllLiteral(page, fmt.Appendf(nil, "%s%s%s", found[0][1], part, found[0][2])), nil
}

// Write replaces the part of a page in a file.
func Write(file, part string) error {
	page, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if page, err = Replace(page, part); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, page, 0o666)
}
