import type { Hit } from './hit.ts';
import type { TokenView } from './token-view.ts';

const shells = /^(?:.*[/\\])?(?:ba|z|da|k|a)?sh$|^(?:.*[/\\])?(?:cmd|powershell|pwsh)(?:\.exe)?$/i;
const flags = /^(?:-[a-z]*c|\/[ck]|-command)$/i;
const flagAndText = /^(?:-[a-z]*c|\/[ck]|-command)\s/i;

/** `"sh", "-c"` in any argument list, and `"cmd.exe", "/c …"`: a command line handed to a shell. */
export function shellFlagHits({ tokens, at }: TokenView): readonly Hit[] {
  const hits: Hit[] = [];
  for (let index = 0; index < tokens.length; index += 1) {
    const token = at(index);
    if (token.kind !== 'string' || token.text.length > 60 || !shells.test(token.text)) continue;
    let next = index + 1;
    for (
      let steps = 0;
      steps < 8 &&
      at(next).kind !== 'string' &&
      /^[,[{(\n]?$|^(?:new|List|Arguments|String|string|Array|listOf|=)$/.test(at(next).text);
      steps += 1
    )
      next += 1;
    const flag = at(next);
    if (flag.kind !== 'string' || !(flags.test(flag.text) || flagAndText.test(flag.text))) continue;
    hits.push({
      start: token.start,
      also: [flag.start],
      call: `${token.text} ${flag.text.slice(0, 10)}`.trim(),
      why: 'hands a command line to a shell',
    });
  }
  return hits;
}
