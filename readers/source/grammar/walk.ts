import type { TreeCursor } from 'web-tree-sitter';

/** Steps through a tree. The order of steps is the caller's; nothing else may use the runtime in between. */
export interface Walk {
  typeId(): number;
  fieldId(): number;
  start(): number;
  end(): number;
  firstChild(): boolean;
  nextSibling(): boolean;
  parent(): boolean;
}

/** What `Parser.init` fills in: the functions of the compiled runtime. */
export type RuntimeFunctions = Readonly<Record<string, unknown>>;

const steps = {
  typeId: '_ts_tree_cursor_current_node_type_id_wasm',
  fieldId: '_ts_tree_cursor_current_field_id_wasm',
  start: '_ts_tree_cursor_start_index_wasm',
  end: '_ts_tree_cursor_end_index_wasm',
  firstChild: '_ts_tree_cursor_goto_first_child_wasm',
  nextSibling: '_ts_tree_cursor_goto_next_sibling_wasm',
  parent: '_ts_tree_cursor_goto_parent_wasm',
} as const;

/**
 * Steps through the tree under a cursor. The runtime keeps the cursor in its own memory from one step to the next; the
 * public cursor copies it out and in at each, which costs as much as the parse. Where the runtime does not offer its
 * functions the public cursor is used.
 */
export function walkTree(cursor: TreeCursor, runtime: RuntimeFunctions): Walk {
  const address = addressOf(cursor);
  const typeId = runtime[steps.typeId];
  const fieldId = runtime[steps.fieldId];
  const start = runtime[steps.start];
  const end = runtime[steps.end];
  const firstChild = runtime[steps.firstChild];
  const nextSibling = runtime[steps.nextSibling];
  const parent = runtime[steps.parent];
  if (
    address === undefined ||
    !isStep(typeId) ||
    !isStep(fieldId) ||
    !isStep(start) ||
    !isStep(end) ||
    !isStep(firstChild) ||
    !isStep(nextSibling) ||
    !isStep(parent)
  )
    return publicWalk(cursor);
  // Copies the cursor into the runtime's memory.
  void cursor.nodeTypeId;
  return {
    typeId: () => typeId(address),
    fieldId: () => fieldId(address),
    start: () => start(address),
    end: () => end(address),
    firstChild: () => firstChild(address) === 1,
    nextSibling: () => nextSibling(address) === 1,
    parent: () => parent(address) === 1,
  };
}

/** The same through the documented cursor alone. */
export function publicWalk(cursor: TreeCursor): Walk {
  return {
    typeId: () => cursor.nodeTypeId,
    fieldId: () => cursor.currentFieldId,
    start: () => cursor.startIndex,
    end: () => cursor.endIndex,
    firstChild: () => cursor.gotoFirstChild(),
    nextSibling: () => cursor.gotoNextSibling(),
    parent: () => cursor.gotoParent(),
  };
}

function isStep(value: unknown): value is (tree: number) => number {
  return typeof value === 'function';
}

function addressOf(cursor: TreeCursor): number | undefined {
  const tree: unknown = Reflect.get(cursor, 'tree');
  const address: unknown = typeof tree === 'object' && tree !== null ? Reflect.get(tree, 0) : undefined;
  return typeof address === 'number' ? address : undefined;
}
