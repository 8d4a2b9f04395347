/* Commands that explain: `help`, `explain`, `rules`, `config print`. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { ownFile } from '../../api/build.ts';
import { withLandingState } from '../../api/run/approve-run.ts';
import { openRun } from '../../api/run/open-run.ts';
import { runFindings } from '../../api/run/run-data.ts';
import { toVerdict } from '../../api/run/verdict.ts';
import { sealingForms } from '../../attest/attestor/sealing-forms.ts';
import { errorCatalogue } from '../../core/base/error-codes.ts';
import { WritError } from '../../core/base/errors.ts';
import { nearestName, printable } from '../../core/base/printable.ts';
import type { Rule, RuleGuide } from '../../core/interfaces/rule.ts';
import type { RunView } from '../../core/interfaces/run-view.ts';
import { parseConfig } from '../../engine/config/config.ts';
import { readMachinePolicy } from '../../engine/config/read-session-policy.ts';
import { machinePolicyPath } from '../../engine/config/session-policy.ts';
import { rules } from '../../gates/rules.ts';
import { readBlob } from '../../workspace/git/read-objects.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { resolveBase } from '../../workspace/git/resolve-commit.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { listedManifests } from '../command-parts/providers.ts';
import { helpText } from '../help.ts';
import { distinctFindings } from '../report/words.ts';
import { styled } from '../terminal/print.ts';

/** `writ help TOPIC`: the help of a command, or a page of the documentation. */
export async function helpCommand({ args, commands }: CommandContext): Promise<CommandResult> {
  const topic = args.join(' ');
  const pages = listPages();
  const command = commands.find(({ name }) => name === topic);
  const isGroup = !pages.has(topic) && commands.some(({ name }) => name.startsWith(`${topic} `));
  if (command !== undefined || isGroup) {
    const text = helpText(commands, command === undefined ? { group: topic } : { command });
    return succeeded({ topic, text }, (printer) => printer.raw(text));
  }
  if (topic === '') {
    const topics = [...pages].map(([name, { title }]) => ({ name, title }));
    return succeeded({ topics }, (printer) => {
      printer.table(topics.map(({ name, title }) => [`  ${name}`, title]));
      printer.line();
      printer.line('`writ help TOPIC` prints the page; `writ help COMMAND` is `writ COMMAND --help`.');
    });
  }
  const page = pages.get(topic.replace(/\.md$/, ''));
  if (page === undefined)
    throw unknown(
      'topic',
      topic,
      [...pages.keys(), ...commands.map(({ name }) => name)],
      '`writ help` lists the topics, `writ --help` the commands',
    );
  return succeeded({ topic, text: page.text }, (printer) => printer.raw(page.text));
}

interface Page {
  readonly title: string;
  readonly text: string;
}

/** Folders of `docs/`, in the order of their topics. */
const folders = ['start', 'concepts', 'guides', 'reference'];

/** The pages of `docs/` by topic: the name of the file, and for a concept also its folder (`concepts/run`). */
function listPages(): ReadonlyMap<string, Page> {
  return new Map(
    folders.flatMap((folder) => {
      const directory = ownFile(`docs/${folder}/`);
      // Some tools delete the documentation of installed packages.
      const names = existsSync(directory) ? readdirSync(directory).sort() : [];
      return names
        .filter((name) => name.endsWith('.md'))
        .map((name): [string, Page] => {
          const text = readFileSync(new URL(name, directory), 'utf8');
          const topic = `${folder === 'concepts' ? 'concepts/' : ''}${name.slice(0, -3)}`;
          return [topic, { title: /^# (.*)$/m.exec(text)?.[1] ?? '', text }];
        });
    }),
  );
}

function unknown(what: string, found: string, known: readonly string[], list: string): WritError {
  const near = nearestName(found, known);
  return new WritError('USAGE', {
    message: `there is no ${what} \`${printable(found)}\``,
    detail: { found: printable(found) },
    hints: [...(near === undefined ? [] : [`did you mean \`${near}\`?`]), list],
  });
}

type GuidedRule = Pick<Rule, 'id' | 'point'> & RuleGuide;

/** The built-in rules, then those of the plugins that HEAD lists, by what their manifests say of them. */
async function guidedRules(context: CommandContext): Promise<readonly GuidedRule[]> {
  const builtIn = rules.flatMap(({ id, point, guide }) => (guide ? [{ id, point, ...guide }] : []));
  const plugins = await listedManifests(context);
  const brought = plugins.flatMap((plugin) =>
    plugin.rules.map(({ id, point, text }) => ({
      id,
      point,
      refuses: text?.about ?? plugin.description ?? `A rule of the plugin \`${plugin.name}\`.`,
      example: '',
      mend: text?.help ?? '',
    })),
  );
  return [...builtIn, ...brought];
}

/** `writ rules [ID]`: what each rule refuses. */
export async function rulesCommand(context: CommandContext): Promise<CommandResult> {
  const [wanted] = context.args;
  const known = await guidedRules(context);
  const shown = known.filter(({ id }) => wanted === undefined || id === wanted);
  if (wanted !== undefined && shown.length === 0)
    throw unknown(
      'rule',
      wanted,
      known.map(({ id }) => id),
      '`writ rules` lists every built-in rule, and the rules of plugins that `.writ/config.toml` at HEAD lists',
    );
  return succeeded({ rules: shown }, (printer) => {
    if (wanted === undefined) {
      printer.table(shown.map(({ id, refuses }) => [`  ${id}`, refuses]));
      if (!printer.quiet)
        printer.line('\n`writ rules ID` shows an example, how to mend it, and how to allow it.');
      return;
    }
    for (const { id, refuses, example, mend, allow, point } of shown) {
      printer.line(styled('bold', id), `  ${refuses}`);
      if (example !== '') printer.line('  example  ', example);
      if (mend !== '') printer.line('  mend     ', mend);
      printer.line('  allow    ', allow ?? 'it cannot be allowed');
      printer.line('  runs     ', point);
    }
  });
}

/** `writ explain [RUN|CODE]`: why, and what to do next. */
export async function explainCommand(context: CommandContext): Promise<CommandResult> {
  const [wanted] = context.args;
  if (wanted === undefined) return explainRun(context, wanted);
  const entry = Object.entries(errorCatalogue).find(([code]) => code === wanted.toUpperCase());
  if (entry !== undefined) {
    const [code, { message, hint, exit }] = entry;
    return explained(code, [message], hint === undefined ? [] : [hint], `exit code ${exit}`);
  }
  const guide = (await guidedRules(context)).find(({ id }) => id === wanted);
  if (guide !== undefined)
    return explained(
      wanted,
      [guide.refuses, ...(guide.example === '' ? [] : [`For example: ${guide.example}`])],
      [
        ...(guide.mend === '' ? [] : [guide.mend]),
        ...(guide.allow === undefined ? [] : [`To allow it: ${guide.allow}`]),
      ],
    );
  return explainRun(context, wanted);
}

async function explainRun(context: CommandContext, wanted: string | undefined): Promise<CommandResult> {
  const opened = await openRun(context, wanted);
  const { view } = await withLandingState(context, opened.view);
  const verdict = toVerdict(view);
  const { reasons, mends } = reasonsOf(view, await guidedRules(context));
  const lines = verdict.next.map(({ line, about }) => `\`${line}\`: ${about}`);
  // A run that was refused before it began left no record, so the newest record may be of an earlier run.
  if (wanted === undefined)
    context.print.note(
      styled('yellow', 'note'),
      `  the newest recorded run, of ${view.startedAt}: ${verdict.word}. If a later command ended with an error code, \`writ explain CODE\` explains it`,
    );
  return explained(view.runId, [verdict.sentence, ...reasons], [...mends, ...lines], view.spec.summary);
}

const most = 20;

/** Every error of a run, with what mends it. */
function reasonsOf(
  view: RunView,
  known: readonly GuidedRule[],
): {
  readonly reasons: readonly string[];
  readonly mends: readonly string[];
} {
  const findings = distinctFindings(runFindings(view)).filter(({ severity }) => severity === 'error');
  const reasons = findings.map(({ rule, message, path, line }) => {
    const place = path === undefined ? '' : ` (${printable(path)}${line === undefined ? '' : `:${line}`})`;
    return `\`${rule}\`: ${message}${place}`;
  });
  const refusing = new Set(findings.map(({ rule }) => rule));
  const mends = known.flatMap(({ id, mend }) => (refusing.has(id) && mend !== '' ? [mend] : []));
  return { reasons: [...new Set(reasons)].slice(0, most), mends };
}

function explained(
  subject: string,
  reasons: readonly string[],
  next: readonly string[],
  about?: string,
): CommandResult {
  return succeeded({ subject, reasons, next }, (printer) => {
    printer.line(styled('bold', subject), about === undefined ? '' : `  ${about}`);
    for (const reason of reasons) printer.line('  ', reason);
    for (const step of next) printer.line(styled('dim', '  next  '), step);
  });
}

/** `writ config print`: what applies to the next change, and from where. */
export async function configPrintCommand(context: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(context.repoPath ?? context.cwd);
  const base = await resolveBase(repository, context.args[0] ?? 'HEAD');
  const bytes = await readBlob(repository, base.tree, '.writ/config.toml');
  const usual = new Map(flattened(parseConfig(undefined, sealingForms)));
  const place =
    base.commit === undefined ? 'no commit yet' : `.writ/config.toml at ${base.commit.slice(0, 12)}`;
  const ofRepository = flattened(parseConfig(bytes, sealingForms)).map(([key, value]) => ({
    key,
    value,
    from: JSON.stringify(usual.get(key)) === JSON.stringify(value) ? 'default' : place,
  }));
  const ofMachine = flattened(readMachinePolicy() ?? {}, 'session').map(([key, value]) => ({
    key,
    value,
    from: machinePolicyPath,
  }));
  const values = [...ofRepository, ...ofMachine];
  return succeeded({ policy_commit: base.commit ?? null, values }, (printer) => {
    printer.table(
      values.map(({ key, value, from }) => {
        const text = JSON.stringify(value);
        return [`  ${key}`, text.length > 60 ? `${text.slice(0, 59)}…` : text, styled('dim', from)];
      }),
    );
  });
}

/** Every value of a configuration under a dotted key. A list is one value. */
function flattened(value: unknown, key = ''): readonly (readonly [string, unknown])[] {
  const entries =
    value instanceof Map
      ? [...value]
      : typeof value === 'object' && value !== null && !Array.isArray(value)
        ? Object.entries(value)
        : undefined;
  if (entries === undefined) return value === undefined ? [] : [[key, value]];
  return entries.flatMap(([name, inner]) => {
    const written = value instanceof Map ? `${name}` : asWritten(`${name}`);
    return flattened(inner, key === '' ? written : `${key}.${written}`);
  });
}

/** Names in the file that are not those of the program in snake_case. */
const otherNames: Readonly<Record<string, string>> = {
  maxTokens: 'tokens',
  maxCostUsd: 'cost_usd',
  maxSeconds: 'seconds',
  mode: 'policy.mode',
};

function asWritten(name: string): string {
  return otherNames[name] ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
