#!/usr/bin/perl
# PTX in a normal form, to compare what two compilers made: no comments, line tables or debug sections; virtual
# registers, labels and named barriers numbered in the order of their first use.
#   normal.pl FILE
use strict;
use warnings;

my (%names, %next);
sub name {
	my ($class, $word) = @_;
	return $names{"$class $word"} //= $class . ++$next{$class};
}

open my $in, '<', $ARGV[0] or die "$ARGV[0]: $!\n";
while (<$in>) {
	last if /^\s*\.section\s+\.debug/;
	s{//.*}{};
	next if /^\s*$/ || /^\s*\.(loc|file|reg)\b/ || /^\s*\$L__(tmp|func_)\w*:/;
	s/%([a-z]+)([0-9]+)\b/name("%$1", $2)/ge;
	s/\$L_\w+/name('$L', $&)/ge;
	s/\b(bar(?:rier)?\.(?:cta\.)?(?:sync|arrive)\S*\s+)([1-9][0-9]*)\b/$1 . name('#', $2)/e;
	s/\s+/ /g;
	print "$_\n";
}
