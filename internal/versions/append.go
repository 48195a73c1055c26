package versions

import "encoding/binary"

// Append appends the bytes that a version edit has for the field to dst, and returns the extended
// slice. Fields yields the field from them again. Its Level must be one that Fields accepts.
func (f Field) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(f.Kind))
	switch f.Kind {
	case FieldComparer:
		return appendBytes(dst, f.Key)
	case FieldCompactFrom:
		return appendBytes(binary.AppendUvarint(dst, uint64(f.Level)), f.Key)
	case FieldDelete:
		return binary.AppendUvarint(binary.AppendUvarint(dst, uint64(f.Level)), f.Number)
	case FieldAdd:
		for _, n := range []uint64{uint64(f.Level), f.Number, f.Size} {
			dst = binary.AppendUvarint(dst, n)
		}
		return appendBytes(appendBytes(dst, f.Smallest), f.Largest)
	default:
		return binary.AppendUvarint(dst, f.Number)
	}
}

// appendBytes appends b behind its length.
func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}
