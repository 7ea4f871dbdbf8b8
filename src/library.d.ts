/** The native library as a file inside the executable; scripts/build.ts says which file that is. */
declare module "tenon:library" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: the form that a file import has.
  export default path;
}
