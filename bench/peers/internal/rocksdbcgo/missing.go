//go:build !rocksdb || !cgo

package rocksdbcgo

import (
	"errors"

	"github.com/sievetable/sievetable/bench/peers/internal/engine"
)

// New returns an error: this program was built without RocksDB.
func New() (engine.Engine, error) {
	return nil, errors.New("not built (-tags rocksdb)")
}
