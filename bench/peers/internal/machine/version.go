package machine

import (
	"runtime/debug"
	"strings"
)

// ModuleVersion returns the version of a module that this program is built
// with, or "" if it does not know.
func ModuleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range info.Deps {
		if m.Path == path {
			return strings.TrimPrefix(m.Version, "v")
		}
	}
	return ""
}
