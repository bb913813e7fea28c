/** A name as `.kir` writes it: bare where it is an ASCII identifier, else a JSON string (kernel and argument names may be any text). */
export function printIdentifier(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
}
