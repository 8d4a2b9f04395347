import { readInput } from '../../api/read-input.ts';
import { WritError } from '../../core/base/errors.ts';
import { randomOctets } from '../../core/base/ids.ts';
import { nearestName } from '../../core/base/printable.ts';
import { type SensitiveClass, sensitiveClasses } from '../../core/interfaces/privacy.ts';
import { redact } from '../../readers/sensitive/redact.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';

/** As many bytes as a run reads of one check's reports. */
const maxBytes = 64 * 1024 * 1024;

/**
 * `writ redact [FILE|-]`: the redaction pipeline alone; the receipt goes to stderr, under `--json` content and receipt
 * into the document.
 */
export async function run(context: CommandContext): Promise<CommandResult> {
  const [path = '-'] = context.args;
  const classes = parseClasses(context.options.values('classes'));
  const bytes = await readInput(context, path, { maxBytes });
  // Digests tell equal values apart within this one receipt.
  const redacted = redact(bytes, { key: randomOctets(32), classes, words: {}, path });
  const { redactions, unscanned } = redacted;
  const content = Buffer.from(redacted.bytes.buffer, redacted.bytes.byteOffset, redacted.bytes.byteLength);
  const isText = content.equals(Buffer.from(content.toString('utf8')));
  const data = {
    path,
    classes: [...classes],
    count: redactions.reduce((sum, { count }) => sum + count, 0),
    redactions,
    ...(unscanned === undefined ? {} : { unscanned }),
    ...(isText ? { content: content.toString('utf8') } : { content_base64: content.toString('base64') }),
  };
  return succeeded(data, (printer) => {
    printer.raw(redacted.bytes);
    if (unscanned !== undefined) printer.complain(`not looked into: ${unscanned} content; it is as it was`);
    if (redactions.length === 0) printer.note('nothing was redacted');
    for (const { rule, class: dataClass, count, digests } of redactions)
      printer.note(
        `${dataClass} ${rule}: ${count} (${digests.map((digest) => digest.slice(0, 12)).join(', ')})`,
      );
  });
}

function parseClasses(values: readonly string[]): ReadonlySet<SensitiveClass> {
  const named = values.flatMap((value) => value.split(',')).map((value) => value.trim());
  if (named.length === 0) return new Set(sensitiveClasses);
  return new Set(
    named.map((name) => {
      const found = sensitiveClasses.find((one) => one === name);
      if (found !== undefined) return found;
      const meant = nearestName(name, sensitiveClasses);
      throw new WritError('USAGE', {
        message: `expected \`--classes\` to name ${sensitiveClasses.join(', ')}, found \`${name}\``,
        detail: { option: 'classes', found: name },
        ...(meant === undefined ? {} : { hints: [`did you mean \`${meant}\`?`] }),
      });
    }),
  );
}
