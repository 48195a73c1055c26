import java.io.DataInputStream;
import java.io.EOFException;
import java.io.FileOutputStream;
import java.io.IOException;
import org.iq80.leveldb.CompressionType;
import org.iq80.leveldb.Options;
import org.iq80.leveldb.table.BytewiseComparator;
import org.iq80.leveldb.table.TableBuilder;
import org.iq80.leveldb.util.Slice;

/** WriteTable FILE BLOCK_SIZE RESTART_INTERVAL: writes the pairs of standard input to a table. */
class WriteTable {
  public static void main(String[] args) throws IOException {
    Options options = new Options().compressionType(CompressionType.NONE)
        .blockSize(Integer.parseInt(args[1])).blockRestartInterval(Integer.parseInt(args[2]));
    try (FileOutputStream file = new FileOutputStream(args[0])) {
      TableBuilder builder = new TableBuilder(options, file.getChannel(), new BytewiseComparator());
      DataInputStream in = new DataInputStream(System.in);
      for (int keyLength; (keyLength = readLength(in)) >= 0; ) {
        int valueLength = readLength(in);
        builder.add(new Slice(in.readNBytes(keyLength)), new Slice(in.readNBytes(valueLength)));
      }
      builder.finish();
    }
  }

  /** Returns a u32le, or -1 at the end. */
  private static int readLength(DataInputStream in) throws IOException {
    try {
      return Integer.reverseBytes(in.readInt());
    } catch (EOFException e) {
      return -1;
    }
  }
}
