// A bcryptprimitives.dll for Wine before version 9, loaded by every Go program.
//
// Go's runtime needs ProcessPrng, which is SystemFunction036 by its newer name.
// Go's os package deletes and renames through two information classes of
// NtSetInformationFile that Wine 8 answers with STATUS_NOT_IMPLEMENTED; here
// they become the older classes, which differ while a file is open: a name goes
// when the last handle does. File names have a byte for each flag's low one, so
// the same buffer serves.
#include <windows.h>
#include <string.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG size);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T size) {
	while (size > 0) {
		ULONG n = size > 0x10000000 ? 0x10000000 : (ULONG)size;
		if (!SystemFunction036(buffer, n)) return FALSE;
		buffer += n;
		size -= n;
	}
	return TRUE;
}

enum {
	FileRenameInformation = 10,
	FileDispositionInformation = 13,
	FileDispositionInformationEx = 64,
	FileRenameInformationEx = 65,
	FileBasicInformation = 4,
};

typedef struct { ULONG_PTR status, information; } IO_STATUS;
typedef LONG(NTAPI *SetInformation)(HANDLE, IO_STATUS *, PVOID, ULONG, ULONG);

static SetInformation original;

static LONG NTAPI setInformation(HANDLE file, IO_STATUS *io, PVOID data, ULONG size, ULONG class) {
	if (class == FileDispositionInformationEx && size >= sizeof(ULONG)) {
		ULONG flags = *(ULONG *)data;
		BOOLEAN gone = flags & 1;
		if (flags & 0x10) { // also a read-only file
			struct { LARGE_INTEGER times[4]; ULONG attributes; } basic = {{{{0}}}, FILE_ATTRIBUTE_NORMAL};
			original(file, io, &basic, sizeof basic, FileBasicInformation);
		}
		return original(file, io, &gone, sizeof gone, FileDispositionInformation);
	}
	if (class == FileRenameInformationEx && size >= 24) {
		// Flags, handle of the folder, length, name: the old class has a byte
		// where this one has flags.
		char *copy = HeapAlloc(GetProcessHeap(), 0, size);
		if (!copy) return (LONG)0xC0000017;
		memcpy(copy, data, size);
		*(ULONG *)copy &= 1;
		LONG status = original(file, io, copy, size, FileRenameInformation);
		HeapFree(GetProcessHeap(), 0, copy);
		return status;
	}
	return original(file, io, data, size, class);
}

// hook makes the system call's stub jump here. A copy of the stub, which has no
// relative addresses, makes the real call.
static void hook(void) {
	BYTE *stub = (BYTE *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "NtSetInformationFile");
	BYTE *copy = VirtualAlloc(NULL, 64, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
	DWORD old;
	if (!stub || !copy || !VirtualProtect(stub, 32, PAGE_EXECUTE_READWRITE, &old)) return;
	memcpy(copy, stub, 32);
	original = (SetInformation)copy;
	BYTE jump[12] = {0x48, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xE0}; // mov rax, target; jmp rax
	void *target = setInformation;
	memcpy(jump + 2, &target, 8);
	memcpy(stub, jump, sizeof jump);
	VirtualProtect(stub, 32, old, &old);
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD reason, LPVOID reserved) {
	if (reason == DLL_PROCESS_ATTACH) hook();
	return TRUE;
}
