import type { AllowedSigners } from './allowed-signers.ts';
import { literalsOf } from './pattern-list.ts';

/**
 * Names that one identity goes by: the text itself and, for `Name <mail>`, both parts. Case and Unicode form do not
 * matter.
 */
function namesOf(identity: string): readonly string[] {
  const parts = /^([^<>]*)<([^<>]+)>\s*$/.exec(identity);
  return [identity, parts?.[1] ?? '', parts?.[2] ?? '']
    .map((name) => name.normalize('NFKC').trim().toLowerCase())
    .filter((name) => name !== '');
}

/** Who is whom: keys and names of which the allowed signers, or a signature, say that they are one person's. */
export class Persons {
  readonly #leads = new Map<string, string>();

  /** A key and the names that its lines give it; lines that share one are one person's, whatever else they say. */
  constructor({ signers }: AllowedSigners) {
    for (const { fingerprint, principals } of signers)
      for (const principal of literalsOf(principals)) this.joinKey(fingerprint, principal);
  }

  joinKey(fingerprint: string, identity: string): void {
    for (const name of namesOf(identity))
      this.#leads.set(this.#root(`name ${name}`), this.ofKey(fingerprint));
  }

  /** The person behind a key, as a token to compare. */
  ofKey(fingerprint: string): string {
    return this.#root(`key ${fingerprint}`);
  }

  /** Every person that an identity may stand for. */
  ofIdentity(identity: string): readonly string[] {
    return namesOf(identity).map((name) => this.#root(`name ${name}`));
  }

  #root(node: string): string {
    let root = node;
    for (let next = this.#leads.get(root); next !== undefined && next !== root; next = this.#leads.get(root))
      root = next;
    // Paths are cut short as they are walked, so that a long file takes no square of its length.
    for (let at = node; at !== root; ) {
      const next = this.#leads.get(at) ?? root;
      this.#leads.set(at, root);
      at = next;
    }
    return root;
  }
}
