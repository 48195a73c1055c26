//go:build !leveldb || !cgo

package leveldbcgo

import (
	"errors"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// New returns an error: this program was built without C++ LevelDB.
func New() (engine.Engine, error) {
	return nil, errors.New("not built (-tags leveldb)")
}
