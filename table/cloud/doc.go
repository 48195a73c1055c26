// Package cloud keeps sets of tables in object storage: in Amazon S3 and stores like it, in Google
// Cloud Storage, in a directory, and wherever else [gocloud.dev/blob] has a driver for.
//
// [Put] and [PutFile] send tables, and then [WriteManifest] sends the manifest. To open the set,
// call [set.Open] with what [ReadManifest] and [NewSource] return. The objects of a set have no "/"
// in their names: to keep them under a prefix, use [blob.PrefixedBucket].
package cloud
