/* Which kernels serve which processor. */
#include "store/scan.h"

const struct scan_kernel *scan_kernel_for(enum cpu_level level)
{
	switch (level) {
	case CPU_AMX:
	case CPU_AVX512VNNI:
		if (scan_avx512)
			return scan_avx512;
		break;
	case CPU_AVXVNNI:
	case CPU_AVX2:
		if (scan_avx2)
			return scan_avx2;
		break;
	case CPU_NEONDOT:
		if (scan_neondot)
			return scan_neondot;
		/* fall through */
	case CPU_NEON:
		if (scan_neon)
			return scan_neon;
		break;
	case CPU_PORTABLE:
		break;
	}
	return &scan_portable;
}

const struct scan_kernel *scan_kernel(void)
{
	return scan_kernel_for(cpu_best());
}
