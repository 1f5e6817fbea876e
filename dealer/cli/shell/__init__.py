"""What commands share: how they are mounted, what they print, and the options and arguments that several take."""
