/** The last part of a path, such as a model's name, which may contain slashes, as they are or escaped. What is no escape stands for itself. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
