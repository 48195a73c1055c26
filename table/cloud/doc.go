// Package cloud keeps sets of tables in object storage: in Amazon S3 and stores like it, in Google
// Cloud Storage, in a directory, and wherever else [gocloud.dev/blob] has a driver for.
//
// A [set.Builder] writes a set to a [Store], and [set.PutTable] and [set.PublishManifest] send one
// that is there already. To open the set, call [set.Open] with the Store and what [set.LoadManifest]
// returns. The objects of a set have no "/" in their names: to keep them under a prefix, use
// [blob.PrefixedBucket].
package cloud
