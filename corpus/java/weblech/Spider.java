import java.util.Arrays;

/**
 * Two spiders visit sites in opposite directions and take a page from the frontier of each. A spider asks whether there
 * is a page and then takes it; when the other one takes the last page in between, it gets none and fails.
 */
public final class Spider {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int SITES = 24;
    private static final int CONNECT_ROUNDS = 200;

    private final Frontier[] frontiers = new Frontier[SITES];
    private final int[] downloaded = new int[2];

    private Spider() {
        Arrays.setAll(frontiers, i -> i % 6 == 0 ? new Frontier("index", "news") : new Frontier("index"));
    }

    private void crawl(int spider, int site) {
        Frontier frontier = frontiers[site];
        if (FIXED) {
            synchronized (frontier) {
                visit(spider, frontier);
            }
        } else {
            visit(spider, frontier);
        }
    }

    private void visit(int spider, Frontier frontier) {
        if (frontier.size() > 0 && connect(spider)) {
            download(spider, frontier.take());
        }
    }

    private static boolean connect(int spider) {
        return Work.compute(spider, CONNECT_ROUNDS) != 0;
    }

    private void download(int spider, String page) {
        downloaded[spider] += page.length();
    }

    public static void main(String[] arguments) throws InterruptedException {
        Spider program = new Spider();
        // An exception that ends a spider fails the run.
        new Crossing(SITES).walk(site -> program.crawl(0, site), site -> program.crawl(1, site));
    }
}
