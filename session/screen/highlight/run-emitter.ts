import type { Emitter } from 'highlight.js';

/** A piece of code and what it is, in the words of the grammar; the innermost comes last. */
export interface Run {
  readonly text: string;
  readonly scopes: readonly string[];
}

export interface Found {
  readonly runs: readonly Run[];
  /** Where what stands open at the end of the code begins: a comment, a string, a tag. */
  readonly openAt: readonly number[];
}

/** Takes what a grammar of `highlight.js` tells as flat runs, in place of the markup that it would write. */
export class RunEmitter implements Emitter {
  readonly #runs: Run[] = [];
  readonly #open: { readonly scope: string; readonly at: number }[] = [];
  #length = 0;
  #openAt: readonly number[] = [];

  startScope(scope: string): void {
    this.#open.push({ scope, at: this.#length });
  }

  endScope(): void {
    this.#open.pop();
  }

  /** Grammars say the same by two names (`highlight.js` 11). */
  openNode(scope: string): void {
    this.startScope(scope);
  }

  closeNode(): void {
    this.endScope();
  }

  addText(text: string): void {
    if (text === '') return;
    this.#runs.push({ text, scopes: this.#open.map(({ scope }) => scope) });
    this.#length += text.length;
  }

  __addSublanguage(emitter: Emitter, _language: string): void {
    if (!(emitter instanceof RunEmitter)) return;
    for (const { text, scopes } of emitter.found().runs) {
      this.#runs.push({ text, scopes: [...this.#open.map(({ scope }) => scope), ...scopes] });
      this.#length += text.length;
    }
  }

  finalize(): void {
    this.#openAt = this.#open.map(({ at }) => at);
  }

  toHTML(): string {
    return '';
  }

  found(): Found {
    return { runs: this.#runs, openAt: this.#openAt };
  }
}
