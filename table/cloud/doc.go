// Package cloud stores sets of tables in Amazon S3, S3-compatible stores, Google Cloud Storage, and any other bucket
// that [gocloud.dev/blob] has a driver for.
//
// A [set.Builder] writes a set to a [Store]. To upload a set that exists as files, call [set.PutTable] for each
// table, then [set.PublishManifest]. To query a set, pass the Store and the manifest from [set.LoadManifest] to
// [set.Open].
//
// Object names contain no "/". To store a set under a prefix, use [blob.PrefixedBucket].
package cloud
