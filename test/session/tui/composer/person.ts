import { textOf } from '../../../../session/screen/line.ts';
import { whole } from '../../../../session/tui/composer/buffer.ts';
import { press } from '../../../../session/tui/composer/compose.ts';
import type { Composer, ComposerEffect, Context } from '../../../../session/tui/composer/composer.ts';
import { emptyComposer, withDraft } from '../../../../session/tui/composer/composer.ts';
import { drawComposer } from '../../../../session/tui/composer/draw-composer.ts';
import type { Key, KeyName } from '../../../../session/tui/term/painter.ts';

const named = /^(?:enter|escape|tab|backspace|delete|up|down|left|right|home|end|page-up|page-down)$/;

export const commands = [
  { name: 'ask', arguments: 'TEXT', description: 'is answered, and changes nothing' },
  { name: 'plan', arguments: '', description: 'shows the plan' },
  { name: 'plan continue', arguments: '[N]', description: 'goes on with a plan that failed' },
  { name: 'status', arguments: '', description: 'what the session is at' },
  { name: 'approvals', arguments: '', description: 'what is approved' },
];

/** A key from its words: `ctrl+c`, `alt+enter`, `left`. */
export function keyOf(chord: string): Key {
  const parts = chord === '+' ? ['+'] : chord.split('+');
  const name = parts.at(-1) ?? '';
  const has = (one: string): boolean => parts.slice(0, -1).includes(one);
  const full = (named.test(name) ? name : `char:${name}`) as KeyName;
  return { type: 'key', name: full, ctrl: has('ctrl'), alt: has('alt'), shift: has('shift') };
}

/** Somebody at a composer of 80 columns while nothing is at work, unless it is said otherwise. */
export class Person {
  composer: Composer;
  context: Context = { busy: false, columns: 80, rows: 24, commands };
  /** What was asked for since it was looked at last. */
  #effects: ComposerEffect[] = [];

  constructor(earlier: readonly string[] = [], context: Partial<Context> = {}) {
    this.composer = withDraft(emptyComposer, earlier, undefined);
    this.context = { ...this.context, ...context };
  }

  /** Letter by letter. */
  types(text: string): this {
    for (const letter of text) this.hits({ type: 'text', text: letter });
    return this;
  }

  pastes(text: string): this {
    return this.hits({ type: 'paste', text });
  }

  presses(...chords: readonly string[]): this {
    for (const chord of chords) this.hits(keyOf(chord));
    return this;
  }

  /** A letter is typed, anything longer is a key. */
  does(one: string): this {
    return one.length === 1 ? this.types(one) : this.presses(one);
  }

  hits(key: Key): this {
    const { composer, effects } = press(this.composer, key, this.context);
    this.composer = composer;
    this.#effects.push(...effects);
    return this;
  }

  /** What is written, with `|` where the cursor is. */
  get text(): string {
    const { text, cursor } = this.composer.buffer;
    return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
  }

  get whole(): string {
    return whole(this.composer.buffer);
  }

  get effects(): readonly ComposerEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  /** The lines as they are drawn, at most `rows`. */
  screen(rows = 10): readonly string[] {
    return drawComposer(this.composer, { columns: this.context.columns, rows }).lines.map(textOf);
  }
}
