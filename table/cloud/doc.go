// Package cloud keeps sets of tables in object storage: in Amazon S3 and stores like it, in
// Google Cloud Storage, in a directory, and wherever else [gocloud.dev/blob] has a driver for.
//
// [Put] and [PutFile] send tables, [WriteManifest] then sends the manifest. [ReadManifest] and
// [NewSource] are what [set.Open] takes to open the set. The objects of a set have no "/" in
// their names: take [blob.PrefixedBucket] to keep them under a prefix.
package cloud
