import { connect, type Socket } from "bun";

/** Bun takes an open socket by its descriptor; its types do not say so yet. */
declare module "bun" {
  function connect<Data = undefined>(options: FdSocketOptions<Data>): Promise<Socket<Data>>;
}

/** Calls `ring` whenever bytes arrive on this descriptor, which it owns from now on. Keeps the process alive only while `ref` holds. */
export async function listen(descriptor: number, ring: () => void): Promise<Socket<undefined>> {
  const socket = await connect({ fd: descriptor, socket: { data: ring } });
  socket.unref();
  return socket;
}
