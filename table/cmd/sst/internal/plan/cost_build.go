package plan

// Seconds of one core that sst build takes, user and system time, as they were measured with 10⁶ to
// 10⁸ lines on 2 cores of an x86-64 server: for each key, and for each byte of keys and values.
const (
	dataKeySeconds, dataByteSeconds     = 0.36e-6, 2.5e-9 // of keys and values, with or without filters by blocks
	filterKeySeconds, filterByteSeconds = 0.15e-6, 2e-9   // of lines, if only filters are written
	bloomKeySeconds                     = 0.06e-6         // of a TableBloom
	fuseKeySeconds                      = 0.13e-6         // of a fuse filter

	sortKeySeconds, sortByteSeconds = 0.9e-6, 2.5e-9
	sortSharedSeconds               = 20e-9 // of a byte that a key shares with the one before: it is compared often

	// The pipeline of table/beam takes that for a key on Beam's local runner, which sorts too, with
	// filters by blocks and URLs of 64 bytes.
	beamSeconds = 3.8e-6
)

// buildSeconds returns how long sst build --sorted takes.
func (q Query) buildSeconds(d Design) float64 {
	key, perByte := dataKeySeconds, dataByteSeconds
	if d.FilterOnly {
		key, perByte = filterKeySeconds, filterByteSeconds
	}
	switch {
	case d.table.bloomBits > 0:
		key += bloomKeySeconds
	case d.table.fuseBits > 0:
		key += fuseKeySeconds
	}
	return float64(q.Keys) * (key + perByte*q.pairBytes())
}

// sortSeconds returns how much longer it takes if it has to sort.
func (q Query) sortSeconds() float64 {
	return float64(q.Keys) * (sortKeySeconds + sortByteSeconds*q.pairBytes() + sortSharedSeconds*q.sharedBytes())
}

func (q Query) pairBytes() float64 { return float64(q.KeySize + q.ValueSize) }

// unsharedBytes is how many bytes of a key are taken to tell it from its neighbours, if nothing is known of
// the keys: long keys, such as URLs, are not long by chance.
const unsharedBytes = 16

// sharedBytes returns how many bytes a key shares with the one before.
func (q Query) sharedBytes() float64 {
	if q.Sample != nil {
		return min(q.Sample.layout(q.Keys, q.BlockSize).shared, float64(q.KeySize))
	}
	return max(0, float64(q.KeySize)-unsharedBytes)
}
