import type { ShellWord } from './reading.ts';

/** Puts together what is known of one word while its parts are read in order. */
export class Pieces {
  #head = '';
  #isLiteral = true;
  #isEmpty = true;
  #single = true;
  #isOperand = false;
  #from: { readonly variable: string; rest: string } | undefined;

  /** Text after quote removal. */
  literal(value: string): void {
    if (this.#isLiteral) this.#head += value;
    else if (this.#from) this.#from.rest += value;
    this.#isEmpty &&= value === '';
  }

  /** Something that the shell expands; `fixed` is the name of a variable that no command can change. */
  expansion(quoted: boolean, fixed?: string): void {
    const isFirst = this.#isEmpty && this.#isLiteral;
    this.#isOperand ||= isFirst && quoted && fixed !== undefined;
    this.#from = isFirst && fixed !== undefined ? { variable: fixed, rest: '' } : undefined;
    this.#isLiteral = false;
    this.#isEmpty = false;
    this.#single &&= quoted;
  }

  finish(text: string): ShellWord {
    const head = this.#head;
    const startsSafely = head === '' ? this.#isLiteral || this.#isOperand : !/^[-+]/.test(head);
    return {
      text,
      head,
      single: this.#single,
      operand: this.#single && startsSafely,
      ...(this.#isLiteral ? { literal: head } : {}),
      ...(this.#from ? { from: this.#from } : {}),
    };
  }
}
