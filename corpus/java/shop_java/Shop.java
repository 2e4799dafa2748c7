import java.util.Arrays;

/**
 * Two customers walk through a shop, one from the first shelf to the last, one from the last to the first, and buy what
 * is left of each article. A customer looks whether a shelf is empty and then takes an item: when the other one takes
 * the last item in between, he goes home with nothing.
 */
public final class Shop {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int SHELVES = 24;
    private static final int POPULAR = 3;
    private static final int CHOOSE_ROUNDS = 200;

    private final Stock[] shelves = new Stock[SHELVES];
    private final int[] missing = new int[2];

    private Shop() {
        Arrays.setAll(shelves, i -> new Stock());
        for (int shelf = 0; shelf < SHELVES; shelf++) {
            shelves[shelf].putItem(shelf);
            // The shelves at both ends are popular, and well filled.
            if (shelf < POPULAR || shelf >= SHELVES - POPULAR) {
                shelves[shelf].putItem(shelf);
            }
        }
    }

    private void visit(int customer, int shelf) {
        buy(customer, shelves[shelf]);
    }

    private void buy(int customer, Stock stock) {
        if (FIXED) {
            synchronized (stock) {
                look(customer, stock);
            }
        } else {
            look(customer, stock);
        }
    }

    private void look(int customer, Stock stock) {
        if (!stock.isEmpty() && choose(customer)) {
            missing[customer] += stock.getItem() == Stock.NO_ITEM ? 1 : 0;
        }
    }

    private static boolean choose(int customer) {
        return Work.compute(customer, CHOOSE_ROUNDS) != 0;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Shop shop = new Shop();
        new Crossing(SHELVES).walk(shelf -> shop.visit(0, shelf), shelf -> shop.visit(1, shelf));
        if (shop.missing[0] + shop.missing[1] > 0) {
            System.err.println("a customer got nothing");
            System.exit(1);
        }
    }
}
