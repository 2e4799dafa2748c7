import java.util.Arrays;

/**
 * Shops that a supplier has filled with one item each. Two customers visit all shops, in opposite directions. A customer
 * asks whether the shop is empty and then takes an item; the one who comes second at the wrong moment takes from the place
 * before the first, as in the study's "ArrayIndexOutOfBoundsException: -1".
 */
public final class Suppliers {
    static final boolean FIXED = Boolean.getBoolean("fixed");
    private static final int SHOPS = 24;

    private final Storage[] shops = new Storage[SHOPS];
    private int bought;

    private Suppliers() {
        Arrays.setAll(shops, shop -> new Storage(1));
    }

    private void supply() {
        for (int shop = 0; shop < SHOPS; shop++) {
            shops[shop].putItem(shop + 1);
        }
    }

    private void buy(int shop) {
        int item = Customer.buy(shops[shop]);
        note(item);
    }

    private synchronized void note(int item) {
        bought += item;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Suppliers suppliers = new Suppliers();
        suppliers.supply();
        // An exception that ends a customer fails the run.
        new Crossing(SHOPS).walk(suppliers::buy, suppliers::buy);
    }
}
