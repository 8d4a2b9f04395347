export function judge(): readonly never[] {
  process.stdout.write('printed by a rule\n');
  process.stderr.write('printed by a rule\n');
  return [];
}
