/** A sorted set as a tree, after java.util.TreeSet: not made for two threads. */
final class Tree {
    private static final int COMPARE_ROUNDS = 200;

    private static final class Node {
        private final int key;
        private Node left;
        private Node right;

        Node(int key) {
            this.key = key;
        }
    }

    private Node root;

    void add(int key) {
        if (Forest.FIXED) {
            synchronized (this) {
                insert(new Node(key));
            }
        } else {
            insert(new Node(key));
        }
    }

    int size() {
        return count(root);
    }

    private void insert(Node node) {
        Node top = root; // truth:A1
        if (top == null) {
            if (compare(node.key)) {
                root = node; // truth:A2
            }
        } else if (node.key < top.key) {
            top.left = node;
        } else {
            top.right = node;
        }
    }

    private static boolean compare(int key) {
        return Work.compute(key, COMPARE_ROUNDS) != 0;
    }

    private static int count(Node node) {
        return node == null ? 0 : 1 + count(node.left) + count(node.right);
    }
}
