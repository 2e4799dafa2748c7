/**
 * Two threads render a picture strip by strip, each one half of every strip, in opposite directions. Each adds its light
 * to the strip's checksum without a lock, so where they meet, one contribution can be lost.
 */
public final class RayTracer {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int STRIPS = 24;

    private final Scene scene = new Scene(STRIPS);

    private boolean isRight() {
        for (int strip = 0; strip < STRIPS; strip++) {
            if (scene.checksum(strip) != Scene.expected(strip)) {
                return false;
            }
        }
        return true;
    }

    public static void main(String[] arguments) throws InterruptedException {
        RayTracer tracer = new RayTracer();
        new Crossing(STRIPS).walk(strip -> tracer.scene.render(strip, 0), strip -> tracer.scene.render(strip, 1));
        if (!tracer.isRight()) {
            System.err.println("the picture's checksum is wrong");
            System.exit(1);
        }
    }
}
