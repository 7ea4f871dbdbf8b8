import { type ChannelName, channels } from "../grammar/ir.ts";

/** The channel of a number that the native side sent. */
export function channelName(number: number): ChannelName {
  const name = names[number];
  if (name === undefined) throw new Error(`no channel has the number ${number}`);
  return name;
}

const names: ChannelName[] = [];
for (const name in channels) if (isChannel(name)) names[channels[name]] = name;

function isChannel(name: string): name is ChannelName {
  return name in channels;
}
