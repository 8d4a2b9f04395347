import { type Line, span } from '../../screen/line.ts';
import { visible } from '../../screen/visible.ts';

const mostLines = 60;

/** Diagnostics as people read them: one line for each fact, nested ones behind a dot. */
export function statusLines(diagnostics: Readonly<Record<string, unknown>>): readonly Line[] {
  return flat('', diagnostics)
    .slice(0, mostLines)
    .map(([name, value]): Line => [span(`  ${visible(name).padEnd(22)} `, 'dim'), span(visible(value))]);
}

function flat(before: string, value: unknown): readonly (readonly [string, string])[] {
  if (Array.isArray(value)) return [[before, value.map((one) => `${one}`).join(', ')]];
  if (typeof value !== 'object' || value === null) return [[before, `${value}`]];
  return Object.entries(value).flatMap(([name, one]) =>
    flat(before === '' ? name : `${before}.${name}`, one),
  );
}
