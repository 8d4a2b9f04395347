import { joined } from './joined.ts';
import type { JudgedTree, Named } from './named.ts';

const recipeFiles: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^(?:g?make|bmake)$/, ['GNUmakefile', 'BSDmakefile', 'makefile', 'Makefile']],
  [/^just$/, ['justfile', 'Justfile', 'JUSTFILE', '.justfile']],
  [
    /^(?:go-)?task$/,
    ['Taskfile', 'taskfile', 'Taskfile.dist', 'taskfile.dist'].flatMap((name) => [
      `${name}.yml`,
      `${name}.yaml`,
    ]),
  ],
  [/^rake$/, ['rakefile', 'Rakefile', 'rakefile.rb', 'Rakefile.rb']],
  [/^(?:nox)$/, ['noxfile.py']],
  [/^(?:invoke|inv)$/, ['tasks.py']],
  [/^(?:gulp)$/, ['gulpfile.js', 'gulpfile.mjs', 'gulpfile.ts']],
  [/^(?:grunt)$/, ['Gruntfile.js', 'Gruntfile.cjs']],
  [/^(?:gradlew?|gradle)$/, ['gradlew', 'settings.gradle', 'settings.gradle.kts', 'gradle.properties']],
  [/^(?:mvnw?|mvn)$/, ['mvnw', '.mvn/maven.config', '.mvn/jvm.config', '.mvn/extensions.xml']],
  [/^(?:sbt)$/, ['build.sbt', 'project/build.properties', 'project/plugins.sbt']],
  [/^(?:turbo)$/, ['turbo.json']],
  [/^(?:nx)$/, ['nx.json', 'project.json']],
  [/^(?:lerna)$/, ['lerna.json']],
  [/^(?:pre-commit)$/, ['.pre-commit-config.yaml']],
  [/^(?:docker|docker-compose|podman)$/, ['Dockerfile', 'docker-compose.yml', 'compose.yaml', 'compose.yml']],
];
/** Of the names that these look for the first one that is there counts: a new one may win. */
const choosesOne = /^(?:g?make|bmake|just|(?:go-)?task|rake|gulp|grunt)$/;

/**
 * The files of recipes that a program takes in a directory, and the names of those that it would take if they were
 * there.
 */
export function recipesOf(
  program: string,
  words: readonly string[],
  home: string,
  tree: JudgedTree,
): readonly Named[] {
  const isTold = words.some((word) =>
    /^(?:-f.*|--(?:make|just|task|gulp|grunt|rake)?file(?:=.*)?)$/.test(word),
  );
  return recipeFiles.flatMap(([form, files]) =>
    (form.test(program) ? files : []).flatMap((file): readonly Named[] => {
      const path = joined(home, file);
      if (path === undefined) return [];
      if (tree.isFile(path)) return [{ kind: 'recipes', path }];
      return choosesOne.test(program) && !isTold ? [{ kind: 'absent', path }] : [];
    }),
  );
}
