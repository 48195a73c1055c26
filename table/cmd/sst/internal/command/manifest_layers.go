package command

import (
	"fmt"
	"slices"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// checkNoLayers returns an error if a manifest would replace one with layers. It would have their tables as
// others, or not at all.
func checkNoLayers(out string) error {
	layers := layersOf(out)
	if len(layers) == 0 {
		return nil
	}
	return fmt.Errorf("-o is %s, which has %s that a new manifest would not have: write the set without layers by sst merge %s -o NEW/, or remove that file first",
		out, text.Count(uint64(len(layers)), "layer"), text.ShellPath(out))
}

// isRemoval reports whether a manifest lists a table among the removals of a layer.
func isRemoval(manifest, name string) bool {
	return slices.ContainsFunc(layersOf(manifest), func(l set.Layer) bool {
		return slices.ContainsFunc(l.Removals, func(t set.Table) bool { return t.Name == name })
	})
}

// layersOf returns the layers of a manifest. A file that is none has none.
func layersOf(path string) []set.Layer {
	m, err := source.ReadSetManifest(path, source.Options{})
	if err != nil {
		return nil
	}
	return m.Layers
}
