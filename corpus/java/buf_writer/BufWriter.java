import java.util.Arrays;

/**
 * Two writers append a line to each of many buffers, one from the first buffer to the last, one from the last to the
 * first. A writer asks where the buffer ends and puts its line there: two calls, and when the other writer comes in
 * between, its line is overwritten. At the end a checker counts the lines.
 */
public final class BufWriter {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int BUFFERS = 24;

    private final Buffer[] buffers = new Buffer[BUFFERS];
    private final Writer[] writers = {new Writer(1), new Writer(2)};

    private BufWriter() {
        Arrays.setAll(buffers, i -> new Buffer());
    }

    private void write(int writer, int buffer) {
        writers[writer].write(buffers[buffer]);
    }

    private int found() {
        int found = 0;
        for (Buffer buffer : buffers) {
            found += buffer.end();
        }
        return found;
    }

    public static void main(String[] arguments) throws InterruptedException {
        BufWriter program = new BufWriter();
        new Crossing(BUFFERS).walk(buffer -> program.write(0, buffer), buffer -> program.write(1, buffer));
        if (program.found() != program.writers[0].written() + program.writers[1].written()) {
            System.err.println("lines were lost");
            System.exit(1);
        }
    }
}
