package machine

import (
	"runtime/debug"
	"strings"
)

// ModuleVersion returns the version of a module in this program, or "" if it is unknown.
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
