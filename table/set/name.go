package set

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// maxName is the most bytes of a name, as in most file systems.
const maxName = 255

// CheckName returns an error if name cannot be the name of a table in a manifest. A name has 1 to
// 255 characters. It is the name of a file beside the manifest on every system, so that a set can
// be copied to any:
//
//   - It has only printable ASCII characters: systems write others in several ways. None of them is
//     / \ : < > " | ? *, which have another meaning in names on some system.
//   - It does not end with a dot or a space, which Windows leaves out. So it is not "." or "..".
//   - It is not the name of a Windows device, such as CON or COM1, also with an extension, as in
//     con.ldb.
//   - It is not [ManifestName], in any mix of upper and lower case.
func CheckName(name string) error {
	if err := checkName(name); err != nil {
		return fmt.Errorf("set: %w", err)
	}
	return nil
}

// checkName is CheckName, without the package's name in the error.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("name is empty, want the name of the table's file")
	case len(name) > maxName:
		return fmt.Errorf("name is %q, of %d bytes, want at most %d", shorten(name), len(name), maxName)
	case strings.ContainsAny(name, `/\:`) || name == "." || name == "..":
		return fmt.Errorf("name is %q, want the name of a file without a path: no slash, backslash or colon",
			name)
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r > '~' }):
		return fmt.Errorf("name is %q, want characters of ASCII that can be printed: give the table another name",
			name)
	case strings.EqualFold(name, ManifestName):
		return fmt.Errorf("name is %q, which is the name of the manifest, want another one", name)
	}
	return checkForWindows(name)
}

// checkForWindows refuses names that no file can have on Windows.
func checkForWindows(name string) error {
	switch {
	case strings.ContainsAny(name, `<>"|?*`):
		return fmt.Errorf("name is %q, want none of < > \" | ? *, which no file has in its name on Windows", name)
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return fmt.Errorf("name is %q, want no dot and no space at its end: Windows leaves them out", name)
	case device.MatchString(name):
		return fmt.Errorf("name is %q, which is a device on Windows, want another one", name)
	}
	return nil
}

// device matches the names that are devices on Windows. An extension, and spaces before it, make no difference there.
var device = regexp.MustCompile(`^(?i:con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9]) *(\.|$)`)
