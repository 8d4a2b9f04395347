import type { SyntaxNode } from '../grammar/syntax-tree.ts';

/**
 * What a name was given: a value to be looked into, or a path that is known already; neither: something of the file's
 * own.
 */
export interface Binding {
  readonly value?: SyntaxNode | undefined;
  readonly path?: string | undefined;
  /** The part of `value` that was taken (`const { exec } = …`). */
  readonly pick?: string | undefined;
  /** Its declared type, where the language has them. */
  readonly type?: string | undefined;
  /** Where it was given. */
  readonly at: number;
}

/** Which names a file gives, and where they hold. Built once for a file; then asked. */
export class Names {
  readonly #opens: ReadonlySet<string>;
  readonly #scopes = new Map<SyntaxNode, Map<string, Binding[]>>();
  /** Names that any scope gives: most names of a file are not among them. */
  readonly #given = new Set<string>();
  /** Scopes whose names the functions inside do not see. */
  readonly #blind: ReadonlySet<string>;

  /** `opens`: node types that open a scope; the root always does. */
  constructor(opens: readonly string[], blind: readonly string[] = []) {
    this.#opens = new Set(opens);
    this.#blind = new Set(blind);
  }

  /** The innermost scope around a node, or the innermost of those types. */
  scopeOf(node: SyntaxNode, types: ReadonlySet<string> = this.#opens): SyntaxNode {
    let at = node;
    while (at.parent) {
      at = at.parent;
      if (types.has(at.type)) return at;
    }
    return at;
  }

  give(scope: SyntaxNode, name: string, binding: Binding): void {
    this.#given.add(name);
    const names = this.#scopes.get(scope) ?? new Map<string, Binding[]>();
    this.#scopes.set(scope, names);
    const known = names.get(name);
    // Twenty values under one name are enough to tell.
    if (!known) names.set(name, [binding]);
    else if (known.length < 20) known.push(binding);
  }

  /** The scope in which a name is given, as seen from a node. */
  ownerOf(name: string, from: SyntaxNode): SyntaxNode | undefined {
    if (!this.#given.has(name)) return undefined;
    let crossed = false;
    for (let at: SyntaxNode | undefined = from; at; at = at.parent) {
      if (this.#scopes.get(at)?.has(name) && !(crossed && this.#blind.has(at.type))) return at;
      // Leaving a function's body: a class around it does not lend its names.
      if (at !== from && this.#opens.has(at.type) && !this.#blind.has(at.type)) crossed = true;
    }
    return undefined;
  }

  /** Everything given under that name where it is seen from a node; `undefined` where the file gives none. */
  find(name: string, from: SyntaxNode): readonly Binding[] | undefined {
    const owner = this.ownerOf(name, from);
    return owner && this.#scopes.get(owner)?.get(name);
  }
}
