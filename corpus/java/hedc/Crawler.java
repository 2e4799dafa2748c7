import java.util.Arrays;

/**
 * A crawler of archives. Two tasks ask all archives, in opposite directions, and note what they get in the archive's list
 * of results, which is one of the Java library's that are not made for several threads. Where the tasks meet, what one of
 * them knows about the list is out of date; nothing in this program but calls into the library shows it.
 */
public final class Crawler {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int ARCHIVES = 24;
    private static final int IMAGE = 1;
    private static final int SPECTRUM = 2;

    private final Archive[] archives = new Archive[ARCHIVES];

    private Crawler() {
        Arrays.setAll(archives, archive -> new Archive());
    }

    private void askForImages(int archive) {
        archives[archive].ask(IMAGE);
    }

    private void askForSpectra(int archive) {
        archives[archive].ask(SPECTRUM);
    }

    private boolean isComplete() {
        for (Archive archive : archives) {
            if (!archive.isComplete()) {
                return false;
            }
        }
        return true;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Crawler crawler = new Crawler();
        new Crossing(ARCHIVES).walk(crawler::askForImages, crawler::askForSpectra);
        if (!crawler.isComplete()) {
            System.err.println("a result was lost");
            System.exit(1);
        }
    }
}
