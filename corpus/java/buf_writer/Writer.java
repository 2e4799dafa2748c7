/** Appends lines to buffers: asks where a buffer ends, and puts its line there. */
final class Writer {
    private static final int FORMAT_ROUNDS = 200;

    private final int name;
    private int written;

    Writer(int name) {
        this.name = name;
    }

    int written() {
        return written;
    }

    void write(Buffer buffer) {
        if (BufWriter.FIXED) {
            synchronized (buffer) {
                append(buffer);
            }
        } else {
            append(buffer);
        }
    }

    private void append(Buffer buffer) {
        int place = buffer.end();
        buffer.put(place, format(place));
        written++;
    }

    private int format(int place) {
        return Work.compute(name * 1000 + place, FORMAT_ROUNDS);
    }
}
