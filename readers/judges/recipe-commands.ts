const byTabs = /^(?:GNUmakefile|[Mm]akefile|.*\.mk)$/;
const byIndent = /^(?:[Jj]ustfile|\.justfile)$/;
const yaml = /^[Tt]askfile(?:\.dist)?\.ya?ml$/;

/**
 * Commands in a file of recipes, one text for each line; `undefined` for any other file. Every recipe counts, whichever
 * is asked for.
 */
export function recipeCommands(name: string, text: string): readonly string[] | undefined {
  const whole = text.replace(/\\\r?\n/g, ' ');
  if (byTabs.test(name))
    return whole.split('\n').flatMap((line) => {
      const [, included] = /^ *(?:-|s)?include[ \t]+([^#]+)/.exec(line) ?? [];
      if (included !== undefined) return [`include ${plainly(included)}`];
      const inline = /^[^\t#=][^=]*:[^=;]*;(.*)$/.exec(line)?.[1];
      const own = line.startsWith('\t') ? line.slice(1) : inline;
      return own === undefined
        ? []
        : [
            own
              .replace(/^[@+-]+/, '')
              .replace(/\$[({](?:MAKE|NPM|NODE|PYTHON)[)}]/g, (found) => found.slice(2, -1).toLowerCase()),
          ];
    });
  if (byIndent.test(name))
    return whole
      .split('\n')
      .flatMap((line) => (/^[ \t]+\S/.test(line) ? [line.trim().replace(/^[@-]+/, '')] : []));
  if (yaml.test(name))
    return whole
      .split('\n')
      .flatMap((line) => /^\s*-?\s*(?:cmd:|sh:|-)\s*["']?(.+?)["']?\s*$/.exec(line)?.[1] ?? []);
  return undefined;
}

/**
 * Names and globs in an `include`: a variable in front of a path stands for a directory that is not known, the root it
 * is then.
 */
function plainly(names: string): string {
  return names
    .replace(/\$[({](?:wildcard|sort|strip)[ \t]+/g, ' ')
    .replace(/\$[({]\w{1,100}[)}]\/?/g, '')
    .replace(/[(){}$]/g, ' ');
}
