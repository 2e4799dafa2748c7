/** Strips of a picture, each with a checksum that all who render it add to. */
final class Scene {
    private static final int TRACE_ROUNDS = 200;

    private final long[] checksums;

    Scene(int strips) {
        checksums = new long[strips];
    }

    /** Renders one half of a strip. */
    void render(int strip, int half) {
        long light = trace(strip * 2 + half);
        if (RayTracer.FIXED) {
            synchronized (this) {
                add(strip, light);
            }
        } else {
            add(strip, light);
        }
    }

    private void add(int strip, long light) {
        long before = checksums[strip]; // truth:A1
        long after = before + mix(light);
        checksums[strip] = after; // truth:A2
    }

    private static long mix(long light) {
        return Work.compute((int) light, TRACE_ROUNDS) & 0xffff;
    }

    static long trace(int ray) {
        return Work.compute(ray, TRACE_ROUNDS) & 0xff;
    }

    /** What a strip must come to. */
    static long expected(int strip) {
        return mix(trace(strip * 2)) + mix(trace(strip * 2 + 1));
    }

    long checksum(int strip) {
        return checksums[strip];
    }
}
